"""Vector stores for NDCG evaluations: nearest neighbours by cosine, behind one small protocol."""
