"""Pictures of models: what is drawn, apart from how. Each is drawn as SVG for pages, or on Matplotlib axes."""
