"""SHOW: the tab in TensorBoard, and the same page as one HTML file."""
