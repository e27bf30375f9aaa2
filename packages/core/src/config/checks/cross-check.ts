import type { ConfigurationFault } from "../faults.js";
import type { ConfigurationSections } from "../schema.js";

type SectionName = Exclude<keyof ConfigurationSections, "name">;

/** A rule between keys: it runs when all sections it looks at are valid by themselves. */
export interface CrossCheck {
  readonly sections: readonly SectionName[];
  readonly find: (sections: ConfigurationSections) => readonly ConfigurationFault[];
}

/** Makes a rule that may look only at the sections it names. */
export function crossCheck<Name extends SectionName>(
  names: readonly Name[],
  find: (sections: Pick<ConfigurationSections, Name>) => readonly (ConfigurationFault | false)[],
): CrossCheck {
  return { sections: names, find: (sections) => find(sections).filter((found) => found !== false) };
}
