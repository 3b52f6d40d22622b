/** Attack cases that this folder's tests do not hold, each with the reason. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'SSRF-CONN-2': 'no lookup hook exists: names are resolved before a socket is made, and only literals are dialled',
  'SSRF-EMB-2': "what a card may name is the card's rule `interfaces`, tested with the card",
  'SSRF-EMB-4': "what a card may name is the card's rule `interfaces`, tested with the card",
  'SSRF-REDIR-28': 'the cache key is made in discovery, from the configured URL',
  'SSRF-REDIR-34':
    "the kill switch aborts the order's signal; that an abort stops the chain is tested here, the switch with the switch",
  'SSRF-DNS-16': "staleness of keys is the key store's; that a flipped answer is refused is SSRF-CONN-6",
  'HTTP-UP-26': 'what a card is as JSON is read in the card folder',
  'HTTP-CT-2': 'media types of cards are judged with the card',
  'HTTP-CT-4': 'media types of cards are judged with the card',
  'HTTP-CT-6': 'what a card is as JSON is read in the card folder; bytes are handed over as they came',
  'HTTP-CT-8': 'what a card is as JSON is read in the card folder; bytes are handed over as they came',
  'HTTP-CT-10': 'an empty answer is whole and empty here; that it is no card is said in the card folder',
  'HTTP-CT-12': 'what a card is as JSON is read in the card folder',
  'HTTP-CT-14': 'what a card must hold is read in the card folder',
  'HTTP-CT-16': 'what a card is as JSON is read in the card folder',
  'HTTP-CT-18': 'what a card may say is judged with the card',
  'HTTP-CT-20': "that an origin's page is not relayed is discovery's; the status is handed over here",
  'HTTP-CT-22': 'what a card must hold is read in the card folder',
};
