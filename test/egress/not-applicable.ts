/** Attack cases that this folder's tests do not hold, each with the reason. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'SSRF-CONN-2': 'no lookup hook exists: names are resolved before a socket is made, and only literals are dialled',
  'SSRF-EMB-2': "what a card may name is the card's rule `interfaces`, tested with the card",
  'SSRF-EMB-4': "what a card may name is the card's rule `interfaces`, tested with the card",
  'SSRF-REDIR-28': 'the cache key is made in discovery, from the configured URL',
  'SSRF-REDIR-34':
    "the kill switch aborts the order's signal; that an abort stops the chain is tested here, the switch with the switch",
  'SSRF-DNS-16': "staleness of keys is the key store's; that a flipped answer is refused is SSRF-CONN-6",
};
