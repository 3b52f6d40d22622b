import { filePath, secret, secretFile, statePlace } from '../../src/config/types/files.ts';
import { duration, size } from '../../src/config/types/quantities.ts';
import { agentNameType, boolean, integer, oneOf } from '../../src/config/types/words.ts';
import { describeType, type TypeCases } from '../support/type-cases.ts';

const TABLES: readonly TypeCases[] = [
  {
    name: 'duration',
    type: duration('250ms', '7d'),
    good: [
      ['250ms', '250ms'],
      ['30s', '30s'],
      ['60s', '1m'],
      ['90m', '90m'],
      ['24h', '1d'],
      ['7d', '7d'],
      ['168h', '7d'],
    ],
    bad: [
      ['249ms', '249ms is too little; write 250ms or more'],
      ['604800001ms', '604800001ms is too much; write 7d or less'],
      ['8d', 'write 7d or less'],
      ['0s', 'too little'],
      ['30', '"30" is no duration; write 30s'],
      ['0', 'write 0s'],
      ['5 minutes', 'write 5m'],
      ['5M', 'write 5m'],
      ['1h30m', 'write 90m'],
      ['1.5h', 'write 90m'],
      ['1e3s', 'write one like 30s, 5m, 1h or 7d'],
      ['-5s', 'write one like'],
      ['forever', 'write one like'],
      ['1w', 'write one like'],
      ['', '"" is no duration; write one like'],
      ['9999999999s', 'write one like'],
    ],
  },
  {
    name: 'size',
    type: size('1KiB', '1GiB'),
    good: [
      ['1024B', '1KiB'],
      ['64KiB', '64KiB'],
      ['10MiB', '10MiB'],
      ['1GiB', '1GiB'],
      ['1025B', '1025B'],
    ],
    bad: [
      ['1023B', '1023B is too little; write 1KiB or more'],
      ['2GiB', 'write 1GiB or less'],
      ['10MB', '"10MB" is no size; write 10MiB'],
      ['10mib', 'write 10MiB'],
      ['64k', 'write 64KiB'],
      ['4096', 'write 4KiB'],
      ['lots', 'write one like 64KiB or 10MiB'],
    ],
  },
  {
    name: 'integer',
    type: integer(0, 10),
    good: [
      ['0', 0],
      ['10', 10],
    ],
    bad: [
      ['-1', 'write 0 or more'],
      ['11', 'write 10 or less'],
      ['1.0', 'no whole number'],
      ['0x1', 'no whole number'],
      ['', 'no whole number'],
      ['9999999999999999', 'no whole number'],
    ],
  },
  {
    name: 'boolean',
    type: boolean,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: [
      ['yes', 'write true'],
      ['On', 'write true'],
      ['TRUE', 'write true'],
      ['0', 'write false'],
      ['maybe', 'write true or false'],
    ],
  },
  {
    name: 'word',
    type: oneOf('debug', 'info', 'warn'),
    good: [['info', 'info']],
    bad: [
      ['warning', '"warning" is not one of: debug, info, warn; did you mean warn?'],
      ['INFO', 'did you mean info?'],
      ['xyz', 'is not one of: debug, info, warn'],
    ],
  },
  {
    name: 'agent name',
    type: agentNameType,
    good: [
      ['a', 'a'],
      ['weather-2', 'weather-2'],
      ['a'.repeat(63), 'a'.repeat(63)],
    ],
    bad: [
      ['a'.repeat(64), `write ${'a'.repeat(63)}`],
      ['Weather_Bot', 'write weather-bot'],
      ['', 'is no agent name'],
      ['a.b', 'write a-b'],
      ['__proto__', 'write proto'],
    ],
  },
  {
    name: 'path',
    type: filePath,
    good: [
      ['ca.pem', '/folder/ca.pem'],
      ['./x/../ca.pem', '/folder/ca.pem'],
      ['/abs/ca.pem', '/abs/ca.pem'],
    ],
    bad: [
      ['', 'is empty'],
      ['~/ca.pem', '"~" is not expanded'],
      ['a\0b', 'NUL'],
    ],
  },
  {
    name: 'state',
    type: statePlace,
    good: [
      ['memory', 'memory'],
      ['./memory', '/folder/memory'],
      ['state', '/folder/state'],
    ],
    bad: [
      ['', 'write a folder, or memory'],
      ['~', 'is not expanded'],
    ],
  },
  {
    name: 'secret',
    type: secret,
    good: [
      ['file:/run/x', 'file:/run/x'],
      ['file:x', 'file:/folder/x'],
      ['env:TOKEN', 'env:TOKEN'],
    ],
    bad: [
      ['hunter2', 'a secret is never written here; write file:/path or env:NAME'],
      ['file:', 'followed by a path'],
      ['file:///run/hunter2', 'not by a URL'],
      ['env:', 'followed by the name'],
      ['env:hunter2!', 'followed by the name'],
      ['file:~hunter2', 'followed by the whole path'],
    ],
  },
  {
    name: 'secret file',
    type: secretFile,
    good: [
      ['file:/run/x', 'file:/run/x'],
      ['file:x', 'file:/folder/x'],
    ],
    bad: [
      ['hunter2', 'a secret is never written here; write file:/path'],
      ['env:hunter2', 'write file:/path'],
      ['./hunter2', 'write file:/path'],
    ],
  },
];

for (const cases of TABLES) describeType(cases);
