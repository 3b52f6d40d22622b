/**
 * Addresses on which clouds hand credentials to whoever asks from inside. They are refused even inside `unsafeAddresses`, unless
 * named there exactly. From the providers' own documentation.
 */
export const METADATA_ADDRESSES: readonly { readonly address: string; readonly cloud: string }[] = [
  { address: '169.254.169.254', cloud: 'AWS, Google Cloud, Azure, Oracle, OpenStack, DigitalOcean' },
  { address: '169.254.169.253', cloud: 'AWS resolver' },
  { address: '169.254.169.123', cloud: 'AWS time' },
  { address: '169.254.170.2', cloud: 'AWS ECS task credentials' },
  { address: '169.254.170.23', cloud: 'AWS EKS Pod Identity' },
  { address: '169.254.0.23', cloud: 'Tencent Cloud' },
  { address: '169.254.42.42', cloud: 'Scaleway' },
  { address: '168.63.129.16', cloud: 'Azure WireServer' },
  { address: '100.100.100.200', cloud: 'Alibaba Cloud' },
  { address: '192.0.0.192', cloud: 'Oracle Cloud' },
  { address: 'fd00:ec2::254', cloud: 'AWS' },
  { address: 'fd00:ec2::253', cloud: 'AWS resolver' },
  { address: 'fd00:ec2::123', cloud: 'AWS time' },
  { address: 'fd00:ec2::23', cloud: 'AWS EKS Pod Identity' },
  { address: 'fd00:c1::a9fe:a9fe', cloud: 'Oracle Cloud' },
  { address: 'fd00:42::42', cloud: 'Scaleway' },
  { address: 'fd20:ce::254', cloud: 'Google Cloud' },
  { address: 'fe80::a9fe:a9fe', cloud: 'OpenStack' },
];
