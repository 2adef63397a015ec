from __future__ import annotations

from pathlib import Path

from docs import transcripts

SCRIPT = """\
#!/bin/sh
# PRE-01 A title
#
# Run it with kubectl on a cluster whose nodes KWOK simulates and that runs the scheduler, for example
#   muster up --nodes 0 --scheduler volcano
# wanted   urgent running
# seen     did not happen
# repeat   muster run --scheduler volcano --only PRE-01 --keep
NAMESPACE=pre-01

# Given a node with 2 GPUs
kubectl apply -f -
"""


def _finding(tmp_path: Path, script: str = SCRIPT) -> transcripts.Finding:
    file = tmp_path / "PRE-01.sh"
    file.write_text(script)
    return transcripts.Finding("PRE-01", "A title", "must", 1, 5, file)


def test_a_section_has_the_report_the_output_and_the_commands(tmp_path: Path) -> None:
    finding = _finding(tmp_path)
    text = transcripts.section(finding, "node/gpu-1 created\nNAME   STATUS\nurgent Pending\n")
    assert "A title (must): 1 of 5 runs passed." in text
    assert "```text\nwanted   urgent running\nseen     did not happen\nrepeat   muster run" in text
    assert "```text\nNAME   STATUS\nurgent Pending\n```" in text
    assert SCRIPT.rstrip() in text
    assert "settings" not in text


def test_settings_that_kubectl_cannot_change_are_named(tmp_path: Path) -> None:
    script = SCRIPT + "# Start the scheduler again with {'queueOrder': 'fifo'}.\n"
    assert "changes the scheduler's settings" in transcripts.section(_finding(tmp_path, script), "")


def test_sections_of_a_page_are_found_again(tmp_path: Path) -> None:
    one = transcripts.section(_finding(tmp_path), "x\n")
    two = one.replace("## PRE-01", "## PRE-02")
    assert transcripts.split_sections("# Head\n\n" + one + "\n" + two) == {"PRE-01": one, "PRE-02": two}


def test_the_scripts_of_a_behaviour_are_those_of_its_rounds_and_rows(tmp_path: Path) -> None:
    scripts = tmp_path / "first" / "kubectl"
    scripts.mkdir(parents=True)
    for name in ("DOC-1.sh", "DOC-1-round2.sh", "DOC-10.sh", "DOC-10-round1.sh"):
        (scripts / name).touch()
    assert [one.name for one in transcripts.scripts_of(tmp_path, "DOC-1")] == ["DOC-1-round2.sh", "DOC-1.sh"]
