/**
 * What becomes of each published card under `schema: compatible`, whatever its hosts: the verdict, and for a refusal what the detail
 * names. A client of at least one official SDK can use every card that is accepted.
 */
export const VERDICTS: Readonly<Record<string, readonly [verdict: string, named?: string]>> = {
  '01-spec-v1.0-geospatial.json': ['accepted 1.0 unverified no-keys'],
  '02-spec-v1.0-canonicalization-example.json': ['card-invalid', '/supportedInterfaces'],
  '03-spec-v0.3.0-geospatial.json': ['accepted 0.2 unverified no-keys'],
  '05-spec-v0.2.0-geospatial.json': ['card-not-json', 'Line 20, column 5'],
  '06-spec-v0.1.0-geospatial.json': ['accepted 0.2 unsigned'],
  '08-py-test-mixed-extended-flags.json': ['card-invalid', '/url'],
  '09-py-test-typical-030.json': ['accepted 0.3 unsigned'],
  '11-py-test-unknown-scheme.json': ['card-invalid', '/securitySchemes/test_unknown'],
  '12-py-test-complex-030.json': ['accepted 0.3 unsigned'],
  '13-java-test-v0.2.9.json': ['accepted 0.2 unverified no-keys'],
  '15-java-test-v1-extended.json': ['accepted 1.0 unsigned'],
  '17-go-test-v1-array-scopes.json': ['accepted 1.0 unverified no-keys'],
  '19-samples-a2a_mcp-planner.json': ['accepted 0.2 unsigned'],
  '21-samples-adk-skills-dual.json': ['accepted 1.0 unsigned'],
  // A relative URL is resolved by one SDK against the card, by another against its base, by a third not at all.
  '24-meitheal-relative-url.json': ['card-invalid', '/supportedInterfaces/0/url'],
  '25-drawio-v02-authentication-none.json': ['accepted 0.2 unsigned'],
  '27-agentpulse-capabilities-array.json': ['card-invalid', '/capabilities'],
  '28-ahp-other-protocol-agent-json.json': ['card-invalid', '/supportedInterfaces'],
  '29-laisky-provider-name.json': ['accepted 0.2 unsigned'],
  '32-xmr402-wrong-interface-members.json': ['card-invalid', '/supportedInterfaces/0/protocolBinding'],
  '33-toolroute-v02-bearer.json': ['accepted 0.2 unsigned'],
  '36-worldmonitor-v03.json': ['accepted 0.3 unsigned'],
  '38-caipe-no-url.json': ['card-invalid', '/url'],
  // "MCP" is an open-form binding, and the placeholder stands in the path: no client can pick the interface, none is misled.
  '40-inite-templated-url-mcp-binding.json': ['accepted 1.0 unsigned'],
  '41-agntcy-hello-v03.json': ['accepted 0.3 unsigned'],
  // 1.2 is unknown; the second interface is 1.0, and the foreign signature verifies nowhere.
  '44-a2amesh-1.2-foreign-signature.json': ['accepted 1.0 unverified no-keys'],
  '45-js-server-case-shape.json': ['accepted 1.0 unsigned'],
  '47-go-nil-slices.json': ['accepted 1.0 unsigned'],
  '48-dotnet-nulls.json': ['accepted 1.0 unsigned'],
  // Neither `type` nor a wrapper says what the scheme is: only a guess could.
  '50-java590-unwrapped-scheme.json': ['unknown-security-scheme', '/securitySchemes/google'],
};
