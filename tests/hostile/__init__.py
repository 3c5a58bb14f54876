"""Clients that mean harm, or know no better: nobody else may notice."""
