# The same words as ./bootstrap, for who has make.
.PHONY: help run test build setup
help:
	@./bootstrap --help
run test build setup:
	@./bootstrap $@
