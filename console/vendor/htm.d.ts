/** htm's own types are those of its CommonJS file; what is served is the module. */
declare const htm: {
  bind<Node>(
    h: (type: never, props: never, ...children: never[]) => Node,
  ): (strings: TemplateStringsArray, ...values: unknown[]) => Node;
};
export default htm;
