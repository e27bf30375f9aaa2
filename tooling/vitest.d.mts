import type { TestProjectInlineConfiguration, ViteUserConfig } from "vitest/config";

/** One vitest project per kind for the package in `directory`; `label` sets packages apart in a run over all of them. */
export declare function projects(directory: string, label?: string): TestProjectInlineConfiguration[];

/** Test settings of one package: its kinds as projects, and coverage of its sources for the unit tests. */
export declare function preset(directory: string): ViteUserConfig;
