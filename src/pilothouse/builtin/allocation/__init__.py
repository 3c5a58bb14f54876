"""What services hold in common: cluster addresses and node ports, each given to one service at a time."""
