"""Forecasting: the past of a series in patches, its next values out."""
