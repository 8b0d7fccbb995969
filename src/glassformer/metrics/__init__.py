"""How good an answer is: translation, language modelling, classification and forecasts, each with its interval."""
