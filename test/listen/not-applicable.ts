/** Cases of the request half of the attack table that the listeners' tests do not hold, each with the reason. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'HTTP-TGT-M1': 'POST at the base URL is JSON-RPC; on the card path it is a scenario of the card cache',
  'HTTP-HDR-27': 'no caller is known by its User-Agent; principals come with the extended cards',
  'HTTP-DOS-5': 'egress: deadlines of an exchange',
  'HTTP-DOS-7': 'egress: interim answers',
  'HTTP-DOS-9': 'egress: size limits while streaming',
  'HTTP-DOS-11': 'egress: content codings',
  'HTTP-DOS-13': 'egress: content codings',
  'HTTP-DOS-15': 'card: depth of JSON',
  'HTTP-DOS-17': 'card: size of JSON',
  'HTTP-DOS-19': 'discovery: one flight for all callers',
  'HTTP-DOS-21': 'discovery: one flight for all callers',
  'HTTP-DOS-23': 'discovery: when a caller may make the origin be asked',
  'HTTP-DOS-25': 'store: size by bytes',
  'HTTP-DOS-27': 'discovery: failures are kept for a moment',
  'HTTP-DOS-29': 'egress: what an exchange leaves behind',
  'HTTP-DOS-33': 'observe: one line per kind of refusal and time',
};
