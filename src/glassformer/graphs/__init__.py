"""Models as ONNX graphs: files that onnxruntime runs without torch and without this package."""

from glassformer.graphs.export import ExportedGraphs, export_onnx

__all__ = ["ExportedGraphs", "export_onnx"]
