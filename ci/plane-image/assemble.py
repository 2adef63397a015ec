"""The embedded control plane as one image: static binaries only, written as an archive for `docker load`.

No registry, no base image, no engine. The same binaries give the same archive, byte for byte.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
from pathlib import Path

from muster import assets
from muster.assets.image_archive import Image, write
from muster.cluster import container
from muster.errors import HarnessError, MusterError

_INTERPRETER = 3  # the kind of program header that asks for a dynamic linker, which an empty image does not have


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the image of the embedded control plane as an archive.")
    parser.add_argument("archive", type=Path, nargs="?", help="where to (dist/<name of the image>.tar)")
    asked = parser.parse_args().archive
    reference = container.built_image()
    target = asked or Path("dist") / f"{reference.replace(':', '-')}.tar"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        assemble(reference, target)
    except MusterError as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    print(target)
    return 0


def assemble(reference: str, target: Path) -> None:
    programs = assets.ensure(container.PROGRAMS, print_line=lambda line: print(line, file=sys.stderr, flush=True))
    for name, path in programs.items():
        if is_dynamic(path):
            raise HarnessError(
                f"{name} ({path}) needs a dynamic linker: build it with CGO_ENABLED=0, or unset its path"
            )
    with tempfile.TemporaryDirectory() as scratch:
        temporary = Path(scratch) / "tmp"
        temporary.mkdir()
        temporary.chmod(0o1777)
        files = {"tmp": temporary, **{f"{container.PROGRAM_DIRECTORY}/{name}": path for name, path in programs.items()}}
        settings = {"Entrypoint": [f"{container.PROGRAM_DIRECTORY}/{container.INIT}"]}
        draft = target.with_name(f".{target.name}")
        write([Image(references=[reference], files=files, settings=settings)], draft)
        draft.replace(target)


def is_dynamic(path: Path) -> bool:
    """Whether an ELF file of 64 bits names a dynamic linker."""
    data = path.read_bytes()[:4096]
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, offset + number * size)[0] for number in range(count)]
    return _INTERPRETER in kinds


if __name__ == "__main__":
    sys.exit(main())
