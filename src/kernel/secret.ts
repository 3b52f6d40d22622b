/** Where a secret is found; read when it is needed, so that it may change. */
export type SecretRef =
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'environment'; readonly name: string };
