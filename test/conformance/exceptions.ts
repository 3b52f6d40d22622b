/** Why a required or optimal test of the suite on the registry is not passed. One that starts to pass fails the run until it is taken off. */

const AGE =
  'asks that a list or a malformed Age makes a response stale; RFC 9111 §5.1 says to use the first member and to ignore what is no number, and the suite’s later state asks that';
const NO_ANSWER =
  'expects a field of the origin’s answer in a response that the origin never gave; no answer to a caller could carry it';

export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'age-parse-dup-0': AGE,
  'age-parse-dup-0-twoline': AGE,
  'age-parse-dup-old': AGE,
  'age-parse-float': AGE,
  'age-parse-negative': AGE,
  'age-parse-nonnumeric': AGE,
  'age-parse-prefix-twoline': AGE,
  'stale-close-must-revalidate': NO_ANSWER,
  'stale-close-no-cache': NO_ANSWER,
  'stale-close-proxy-revalidate': NO_ANSWER,
  'stale-close-s-maxage=2': NO_ANSWER,
  'conditional-lm-fresh-no-lm':
    'asks for a 304 to If-Modified-Since from a response without Last-Modified; RFC 9110 §13.1.3 compares with a date that is not there, and a wrong 304 leaves the client with what it had',
  'vary-normalise-lang-select':
    'asks for language negotiation by Content-Language; which representation suits is the origin’s to say, so unequal Accept-Language fields do not share',
};
