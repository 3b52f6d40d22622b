import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { loadText } from '../support/config.ts';
import { type KubeObject, kustomize, problemsWith } from '../support/kubernetes.ts';

interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly [source: string]: unknown }[];
  readonly securityContext?: unknown;
}

const OVERLAYS = [
  ['example', 'native'],
  ['example/plain', 'plain'],
  ['example/exec-probes', 'native'],
  ['example/exec-probes-plain', 'plain'],
  ['example/network-policy', 'native'],
] as const;

const find = (objects: readonly KubeObject[], kind: string, name?: string): KubeObject => {
  const found = objects.find(
    (each) => each.kind === kind && (name === undefined || each.metadata.name.startsWith(name)),
  );
  assert.ok(found, `${kind} ${name ?? ''}`);
  return found;
};
const podOf = (objects: readonly KubeObject[]): PodSpec => {
  const { spec } = find(objects, 'Deployment') as unknown as { spec: { template: { spec: PodSpec } } };
  return spec.template.spec;
};
const own = ({ initContainers = [], containers }: PodSpec): Container => {
  const found = [...initContainers, ...containers].find(({ name }) => name === 'cardea');
  assert.ok(found);
  return found;
};

for (const [overlay, manner] of OVERLAYS) {
  describe(`deploy/kustomize/${overlay}`, () => {
    let built: readonly KubeObject[] | undefined;
    /** Built once: each run of kubectl takes a second. */
    const build = (t: TestContext) => (built ??= kustomize(t, overlay));

    test('every object is one that Kubernetes knows, with no member that it does not', (t) => {
      for (const object of build(t) ?? []) {
        assert.deepEqual(problemsWith(object), [], `${object.kind} ${object.metadata.name}`);
        assert.match(object.metadata.name, /^[a-z0-9][a-z0-9-]{0,62}$/);
      }
    });

    test('the container meets the restricted Pod Security Standard by itself', (t) => {
      const objects = build(t);
      if (objects === undefined) return;
      const pod = podOf(objects);
      assert.deepEqual(own(pod).securityContext, {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
        runAsGroup: 65532,
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const sources = pod.volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
      for (const source of sources) assert.ok(['configMap', 'emptyDir'].includes(source), source);
      assert.equal('hostNetwork' in pod || 'hostPID' in pod || 'shareProcessNamespace' in pod, false);
    });

    test('it comes first, and stays where it is native', (t) => {
      const objects = build(t);
      if (objects === undefined) return;
      const { initContainers = [], containers } = podOf(objects);
      const [first, ...others] = manner === 'native' ? initContainers : containers;
      assert.equal(first?.name, 'cardea');
      assert.equal(first.restartPolicy, manner === 'native' ? 'Always' : undefined);
      assert.ok(others.length > 0, 'the application keeps its own');
      assert.equal('lifecycle' in first, false, 'no preStop: that of a sidecar runs when the Pod begins to end');
    });

    test("the application's Pod stays its own", (t) => {
      const objects = build(t);
      if (objects === undefined) return;
      const { spec } = find(objects, 'Deployment') as unknown as {
        spec: { template: { metadata: unknown; spec: PodSpec } };
      };
      assert.deepEqual(spec.template.metadata, { labels: { app: 'sample-agent' } });
      assert.deepEqual(Object.keys(spec.template.spec).toSorted(), [
        'containers',
        'initContainers',
        'securityContext',
        'volumes',
      ]);
      assert.deepEqual(spec.template.spec.securityContext, {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
    });

    test('every mount has its volume, and what Cardea only reads is read-only', (t) => {
      const objects = build(t);
      if (objects === undefined) return;
      const { volumes } = podOf(objects);
      const mounts = own(podOf(objects)).volumeMounts;
      const names = new Set(volumes.map(({ name }) => name));
      for (const { name } of mounts) assert.ok(names.has(name), name);
      assert.deepEqual(
        mounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath),
        ['/var/lib/cardea'],
      );
      const token = mounts.find(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount');
      assert.deepEqual(
        volumes.find(({ name }) => name === token?.name),
        { name: 'cardea-no-token', emptyDir: { sizeLimit: '1Mi' } },
      );
    });

    test("the configuration is the overlay's, by a name with its hash, and it holds under the sidecar's variables", async (t) => {
      const objects = build(t);
      if (objects === undefined) return;
      const config = find(objects, 'ConfigMap', 'cardea-config-') as unknown as { data: Record<string, string> };
      const volume = podOf(objects).volumes.find(({ name }) => name === 'cardea-config');
      assert.deepEqual(volume?.['configMap'], { name: (config as unknown as KubeObject).metadata.name });
      const env = Object.fromEntries(own(podOf(objects)).env.map(({ name, value }) => [name, value]));
      const loaded = await loadText(config.data['cardea.yaml'] ?? '', { env, files: APPROVED });
      assert.deepEqual(loaded.ok ? loaded.warnings : loaded.problems, []);
    });
  });
}

/** What the optional ConfigMap would hold. */
const APPROVED = { '/etc/cardea-approved/approved.yaml': `weather: [sha256:${'0'.repeat(64)}]\n` };

test('the exec probes replace the others, and leave memory for a second Node', (t) => {
  const objects = kustomize(t, 'example/exec-probes');
  if (objects === undefined) return;
  const container = own(podOf(objects));
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const found = container[probe] as Readonly<Record<string, unknown>>;
    assert.equal('httpGet' in found, false, probe);
    assert.ok('exec' in found, probe);
  }
  assert.deepEqual(container['resources'], {
    requests: { cpu: '20m', memory: '192Mi' },
    limits: { memory: '512Mi' },
  });
});

describe('the check of manifests finds', () => {
  const deployment = (container: object): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'x' },
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } },
    },
  });
  const cases: readonly (readonly [string, object, RegExp | null])[] = [
    ['nothing in a good one', { name: 'a', image: 'b' }, null],
    ['a member of the wrong type', { name: 'a', image: 3 }, /image must be string/],
    ['a member that is missing', { image: 'b' }, /name/],
    ['a member that nobody knows', { name: 'a', nmae: 'b' }, /nmae is no member/],
    ['one far inside', { name: 'a', livenessProbe: { httpGet: { port: 1, pth: '/' } } }, /httpGet\/pth is no member/],
  ];
  for (const [name, container, problem] of cases) {
    test(name, () => {
      const found = problemsWith(deployment(container));
      if (problem === null) assert.deepEqual(found, []);
      else assert.match(found.join('\n'), problem);
    });
  }
});
