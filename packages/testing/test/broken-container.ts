import type { ContainerBuilder, ContainerLibrary } from "../src/service/container-library.js";

/** A library whose containers write down what they are asked for, and never start. */
export function brokenContainer(): { readonly asked: unknown[]; library(): Promise<ContainerLibrary> } {
  const asked: unknown[] = [];
  class Broken implements ContainerBuilder {
    constructor(image: string) {
      asked.push(image);
    }
    withCommand(command: string[]) {
      asked.push(command);
      return this;
    }
    withEnvironment(environment: Record<string, string>) {
      asked.push(environment);
      return this;
    }
    withCopyContentToContainer(files: { content: string; target: string }[]) {
      asked.push(files);
      return this;
    }
    withExposedPorts() {
      return this;
    }
    start() {
      return Promise.reject(new Error("no such image"));
    }
  }
  return { asked, library: async () => ({ GenericContainer: Broken }) };
}
