"""Studies: units drawn, dealt to annotators and rated; pairs, spot-checks, guidelines, annotation quality."""
