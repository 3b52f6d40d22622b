import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { ConfigMap, Namespace } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { required } from './programs.ts';

/** Kubernetes objects as tests judge them, with no cluster. */

const root = path.resolve(import.meta.dirname, '../..');

/** An object of a manifest; tests name what they expect in it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [member: string]: unknown;
}

/** Builds an overlay; undefined, and the test is skipped, where there is no kubectl. */
export function kustomize(t: TestContext, folder: string): readonly KubeObject[] | undefined {
  if (!required(t, 'kubectl', ['--help'], 'kubectl 1.25 or newer, which has kustomize 5 in it')) return undefined;
  const ran = spawnSync('kubectl', ['kustomize', path.join(root, 'deploy/kustomize', folder)], { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  return objectsIn(ran.stdout);
}

export const objectsIn = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);

interface Model {
  readonly prototype: { validate(): void };
}

const MODELS: Readonly<Record<string, Model>> = {
  Deployment,
  NetworkPolicy,
  ConfigMap,
  Namespace,
  PodMonitor,
  PrometheusRule,
};

/** What is wrong with an object: what its schema says, and members that no schema knows, which validators let pass. */
export function problemsWith(object: KubeObject): readonly string[] {
  const model = MODELS[object.kind];
  if (model === undefined) return [`${object.kind}: no model`];
  const unknown = new Set<string>();
  try {
    // Not by the constructor, which copies what it is given and so reads everything.
    Reflect.apply(model.prototype.validate, watch(object, '', unknown), []);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return [...unknown].map((member) => `${member} is no member of it`);
}

/** A validator that was made from a schema asks an object for each member that it knows: what it never asks for, it does not know. */
function watch(value: unknown, at: string, unknown: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = new Map(Object.entries(value).map(([key, each]) => [key, watch(each, `${at}/${key}`, unknown)]));
  if (Array.isArray(value)) return [...members.values()];
  for (const key of members.keys()) unknown.add(`${at}/${key}`);
  return new Proxy(Object.fromEntries(members), {
    get(target, key, receiver) {
      unknown.delete(`${at}/${String(key)}`);
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}
