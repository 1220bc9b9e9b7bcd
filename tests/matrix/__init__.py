"""Every case of the suite to every target: what comes out, judged, against a golden file."""
