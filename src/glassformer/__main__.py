"""`python -m glassformer`: the command line without installing."""

from glassformer.cli.app import main

if __name__ == "__main__":
    main()
