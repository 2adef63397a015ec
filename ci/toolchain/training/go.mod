// v1.0.0, as component.toml has it: of our own making, and of nothing but Go's standard library.
module muster/toolchain/training

go 1.26.0
