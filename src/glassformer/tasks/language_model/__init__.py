"""Language modelling: predict the next token; free text and chat."""
