import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../../src/cli/help.ts';
import { injectCommand } from '../../src/cli/inject.ts';
import { type KubeObject, objectsIn, problemsWith } from '../support/kubernetes.ts';

const DEPLOYMENT = `# the team's own words
apiVersion: apps/v1
kind: Deployment
metadata:
  name: weather # its name
  labels:
    app: weather
spec:
  selector:
    matchLabels: { app: weather }
  template:
    metadata:
      labels: { app: weather }
    spec:
      serviceAccountName: weather
      initContainers:
      - name: migrate
        image: weather:1
      containers:
      - name: app
        image: weather:1
        env:
        - name: TEXT
          value: |
            one
              two
---
# the door
apiVersion: v1
kind: Service
metadata: { name: weather }
`;

/** Runs `cardea inject` over a manifest in `/srv/m.yaml`, or on standard input. */
async function inject(manifest: string, flags = '-f m.yaml') {
  const written = { out: '', err: '' };
  const code = await runCommand([injectCommand], {
    argv: ['inject', ...flags.split(' ')],
    env: {},
    cwd: '/srv',
    stdout: { write: (more) => (written.out += more) },
    stderr: { write: (more) => (written.err += more) },
    readFile: async (path) => {
      if (path.includes('/deploy/kustomize/')) return readFile(path);
      if (path === '/srv/m.yaml' || path === '/dev/stdin') return new TextEncoder().encode(manifest);
      throw new Error('no such file');
    },
  });
  return { code, ...written };
}

interface Pod {
  readonly initContainers?: readonly {
    readonly name: string;
    readonly image: string;
    readonly restartPolicy?: string;
  }[];
  readonly containers: readonly { readonly name: string; readonly image: string }[];
  readonly volumes: readonly { readonly name: string }[];
}
const podOf = (object: KubeObject | undefined): Pod =>
  (object as unknown as { spec: { template: { spec: Pod } } }).spec.template.spec;

describe('cardea inject', () => {
  test('adds the native sidecar before the other init containers', async () => {
    const { code, out, err } = await inject(DEPLOYMENT);
    assert.deepEqual([code, err], [0, '']);
    const [deployment] = objectsIn(out);
    const { initContainers = [], containers, volumes } = podOf(deployment);
    assert.deepEqual(
      initContainers.map(({ name }) => name),
      ['cardea', 'migrate'],
    );
    assert.equal(initContainers[0]?.restartPolicy, 'Always');
    assert.deepEqual(
      containers.map(({ name }) => name),
      ['app'],
    );
    assert.ok(volumes.some(({ name }) => name === 'cardea-state'));
    assert.deepEqual(deployment === undefined ? ['none'] : problemsWith(deployment), []);
  });

  test('keeps comments, other documents and block texts', async () => {
    const { out } = await inject(DEPLOYMENT);
    for (const comment of ["# the team's own words", '# its name', '# the door'])
      assert.ok(out.includes(comment), comment);
    const [, before] = parseAllDocuments(DEPLOYMENT).map((document) => document.toJS() as object);
    assert.deepEqual(objectsIn(out)[1], before);
    assert.ok(out.includes('value: |\n            one\n              two\n'), 'and the way that lists are written');
  });

  test('adds nothing twice', async () => {
    const once = await inject(DEPLOYMENT);
    const twice = await inject(once.out);
    assert.deepEqual(twice, once);
  });

  test('puts the other kind in the place of the one that is there, with its image', async () => {
    const native = await inject(DEPLOYMENT, '-f m.yaml --image registry.example/cardea:1');
    const plain = await inject(native.out, '-f m.yaml --plain');
    const { initContainers = [], containers } = podOf(objectsIn(plain.out)[0]);
    assert.deepEqual(
      initContainers.map(({ name }) => name),
      ['migrate'],
    );
    assert.deepEqual(
      containers.map(({ name, image }) => `${name} ${image}`),
      ['cardea registry.example/cardea:1', 'app weather:1'],
    );
    assert.deepEqual((await inject(plain.out, '-f m.yaml --plain')).out, plain.out);
  });

  test('leaves a volume of its name that has another source', async () => {
    const other = DEPLOYMENT.replace(
      '      containers:',
      '      volumes:\n      - name: cardea-config\n        configMap: { name: other }\n      containers:',
    );
    const { volumes } = podOf(objectsIn((await inject(other)).out)[0]);
    assert.deepEqual(volumes[0], { name: 'cardea-config', configMap: { name: 'other' } });
    assert.equal(volumes.filter(({ name }) => name === 'cardea-config').length, 1);
  });

  test('reads standard input, a List and every kind that makes Pods', async () => {
    const pod = 'containers: [{ name: a, image: b }]';
    const kinds = [
      `{ kind: Pod, metadata: { name: a }, spec: { ${pod} } }`,
      `{ kind: StatefulSet, metadata: { name: b }, spec: { template: { spec: { ${pod} } } } }`,
      `{ kind: CronJob, metadata: { name: c }, spec: { jobTemplate: { spec: { template: { spec: { ${pod} } } } } } }`,
    ];
    const { code, out } = await inject(
      `kind: List\nitems:\n${kinds.map((each) => `- ${each}\n`).join('')}`,
      '--file=-',
    );
    assert.equal(code, 0);
    assert.equal(out.match(/name: cardea\b(?!-)/g)?.length, kinds.length);
  });

  test('tells what it did as JSON', async () => {
    const { out } = await inject(DEPLOYMENT, '-f m.yaml --json');
    const { added, manifest } = JSON.parse(out) as { added: string[]; manifest: string };
    assert.deepEqual(added, ['Deployment/weather']);
    assert.equal(manifest, (await inject(DEPLOYMENT)).out);
  });

  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    ['a manifest without a Pod', 'kind: Service\n', /m\.yaml: holds none of Pod, .*: nothing makes a Pod/],
    ['an empty one', '', /nothing makes a Pod/],
    ['broken YAML, with its place', 'kind: Deployment\n  x: [\n', /m\.yaml:\d+:\d+: /],
    [
      'a Deployment without Pods',
      'kind: Deployment\nmetadata: { name: a }\n',
      /Deployment\/a has no spec\.template\.spec/,
    ],
    [
      'a port that is taken',
      DEPLOYMENT.replace('        env:', '        ports: [{ containerPort: 9464 }]\n        env:'),
      /the container app listens on 9464, which Cardea needs/,
    ],
    [
      'a list that is none',
      DEPLOYMENT.replace('      serviceAccountName: weather', '      volumes: { a: 1 }'),
      /volumes is no list/,
    ],
  ];
  for (const [name, manifest, problem] of REFUSED) {
    test(`refuses ${name}`, async () => {
      const { code, out, err } = await inject(manifest);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, problem);
    });
  }

  test('says how it is called', async () => {
    assert.equal((await inject(DEPLOYMENT, '--json')).code, 2);
    assert.match((await inject(DEPLOYMENT, '--json')).err, /name the manifest: -f FILE/);
    assert.equal((await inject(DEPLOYMENT, '-f other.yaml')).code, 1);
    assert.match((await inject(DEPLOYMENT, '--help')).out, /-f, --file FILE/);
  });
});

describe('cardea inject --check', () => {
  const labelled = DEPLOYMENT.replace('    app: weather\n', '    app: weather\n    cardea: sidecar\n');

  test('holds where the sidecar is there', async () => {
    const { code, out } = await inject((await inject(labelled)).out, '--check -f m.yaml');
    assert.deepEqual([code, out], [0, 'sidecar Deployment/weather\n']);
  });
  test('fails where the selector matched nothing', async () => {
    const { code, err } = await inject(DEPLOYMENT, '--check -f m.yaml');
    assert.equal(code, 1);
    assert.match(err, /the label "cardea: sidecar" matched nothing: none of Deployment\/weather carries it/);
  });
  test('fails where the label is there and the sidecar is not', async () => {
    const { code, err } = await inject(labelled, '--check -f m.yaml');
    assert.equal(code, 1);
    assert.match(err, /Deployment\/weather is labelled "cardea: sidecar" and has no sidecar/);
  });
  test('does not take the labels of the Pods for its own', async () => {
    const onPods = DEPLOYMENT.replace('labels: { app: weather }', 'labels: { app: weather, cardea: sidecar }');
    assert.equal((await inject(onPods, '--check -f m.yaml')).code, 1);
  });
  test('tells all as JSON', async () => {
    const { out } = await inject(labelled, '--check -f m.yaml --json');
    const { ok, workloads } = JSON.parse(out) as { ok: boolean; workloads: unknown };
    assert.equal(ok, false);
    assert.deepEqual(workloads, [{ name: 'Deployment/weather', labelled: true, sidecar: false }]);
  });
});
