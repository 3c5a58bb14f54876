"""PodSecurity: the three Pod Security Standards, chosen by labels of a namespace."""
