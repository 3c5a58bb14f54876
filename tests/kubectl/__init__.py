"""What a person sees with the real kubectl and helm."""
