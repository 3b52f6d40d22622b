/**
 * Names that mean "here": this machine, this network, this cluster. Whoever answers them differs from place to place, so a card or
 * a redirect from outside must not reach them by accident (RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's .internal, Kubernetes).
 */
const HERE: readonly string[] = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'lan',
  'home',
  'corp',
  'home.arpa',
  'svc',
  'svc.cluster.local',
  'pod.cluster.local',
  'cluster.local',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'alt',
  'invalid',
];

/** Names under which clouds hand credentials to whoever asks from inside, from the providers' own documentation. */
const METADATA_NAMES: readonly string[] = [
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
  'metadata.azure.internal',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'api.metadata.cloud.ibm.com',
  'metadata.udf.tencentyun.com',
  'rancher-metadata',
];

const isBelow = (host: string, root: string): boolean => host === root || host.endsWith(`.${root}`);

/** Says whether a host is a name that means "here"; a single label is, since a search domain completes it. */
export const isLocalName = (host: string): boolean => !host.includes('.') || HERE.some((root) => isBelow(host, root));

/** Says whether a host is a root of such names, too wide to stand behind a wildcard: `*.internal`, `*.svc.cluster.local`. */
export const isLocalRoot = (host: string): boolean => !host.includes('.') || HERE.includes(host);

/** Says whether a host is where a cloud hands out credentials; only an exact rule reaches it. */
export const isMetadataName = (host: string): boolean => METADATA_NAMES.includes(host);
