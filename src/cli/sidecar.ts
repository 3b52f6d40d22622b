import { type YAMLMap, isMap, parseDocument } from 'yaml';
import { type Workload, listAt, mapsIn, textAt } from './manifest.ts';

/** Adds Cardea to one workload. What is added is the kustomize component's own patch, so that there is one sidecar and not two. */

/** The container's name, by which it is found again. */
const CARDEA = 'cardea';

/** Where in a Pod the container goes: a native sidecar is an init container that stays. */
export type Manner = 'initContainers' | 'containers';

/** What is added. */
export interface Sidecar {
  readonly manner: Manner;
  readonly container: YAMLMap;
  readonly volumes: readonly YAMLMap[];
}

/** Reads the component's patch. */
export function readSidecar(patch: string, manner: Manner): Sidecar {
  const pod = parseDocument(patch).getIn(['spec', 'template', 'spec']);
  if (!isMap(pod)) throw new Error('the sidecar component has no spec.template.spec');
  const [[, container] = []] = mapsIn(pod.get(manner));
  if (container === undefined) throw new Error(`the sidecar component has no ${manner}`);
  return { manner, container, volumes: mapsIn(pod.get('volumes')).map(([, volume]) => volume) };
}

/** Why a workload cannot have the sidecar, in a line; empty where nothing is in the way. */
export function conflictsWith({ name, pod }: Workload): readonly string[] {
  const others = [...mapsIn(pod.get('initContainers')), ...mapsIn(pod.get('containers'))]
    .map(([, container]) => container)
    .filter((container) => textAt(container, ['name']) !== CARDEA);
  const taken = others.flatMap((container) =>
    mapsIn(container.get('ports'))
      .map(([, port]) => Number(port.get('containerPort')))
      .filter((port) => OWN_PORTS.includes(port))
      .map(
        (port) =>
          `${name}: the container ${textAt(container, ['name'])} listens on ${port}, which Cardea needs: give one of them another`,
      ),
  );
  const wrong = (['initContainers', 'containers', 'volumes'] as const)
    .filter((key) => listAt(pod, key) === undefined)
    .map((key) => `${name}: ${key} is no list`);
  return [...taken, ...wrong];
}

const OWN_PORTS: readonly number[] = [8642, 9464];

/** Adds the sidecar, or puts the present one in the place of an older one; the image that stands there stays unless another is named. */
export function addSidecar({ pod }: Workload, { manner, container, volumes }: Sidecar, image: string | null): void {
  const other = manner === 'containers' ? 'initContainers' : 'containers';
  const previous = takeOut(pod, other) ?? findOwn(pod, manner)?.[1];
  const added = container.clone() as YAMLMap;
  const chosen = image ?? (previous === undefined ? '' : textAt(previous, ['image']));
  if (chosen !== '') added.set('image', chosen);
  const list = listAt(pod, manner);
  const at = findOwn(pod, manner)?.[0];
  if (at === undefined) list?.items.unshift(added);
  else list?.items.splice(at, 1, added);
  for (const volume of volumes) putVolume(pod, volume);
  for (const key of ['initContainers', 'containers', 'volumes'])
    if (listAt(pod, key)?.items.length === 0) pod.delete(key);
}

/** True where the workload has the sidecar, of either kind. */
export const hasSidecar = ({ pod }: Workload): boolean =>
  findOwn(pod, 'initContainers') !== undefined || findOwn(pod, 'containers') !== undefined;

const findOwn = (pod: YAMLMap, manner: Manner): readonly [at: number, map: YAMLMap] | undefined =>
  mapsIn(pod.get(manner)).find(([, container]) => textAt(container, ['name']) === CARDEA);

/** Takes the sidecar out of the list that it is not to be in. */
function takeOut(pod: YAMLMap, manner: Manner): YAMLMap | undefined {
  const found = findOwn(pod, manner);
  if (found !== undefined) listAt(pod, manner)?.items.splice(found[0], 1);
  return found?.[1];
}

function putVolume(pod: YAMLMap, volume: YAMLMap): void {
  const list = listAt(pod, 'volumes');
  const name = textAt(volume, ['name']);
  const found = mapsIn(list).find(([, each]) => textAt(each, ['name']) === name);
  // A volume of this name that is there may have been given another source by hand.
  if (found === undefined) list?.items.push(volume.clone());
}
