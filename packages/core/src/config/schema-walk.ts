import type { z } from "zod";

type Definition = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The definition behind a schema; zod keeps it stable for tools that walk schemas. */
export function definitionOf(schema: z.core.$ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}

/** The schema without its defaults, null, absence and transforms: the kind of value that is written in a file. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let current = schema;
  for (;;) {
    const definition = definitionOf(current);
    switch (definition.type) {
      case "default":
      case "prefault":
      case "nullable":
      case "optional":
      case "readonly":
      case "catch":
      case "nonoptional":
        current = definition["innerType"] as z.core.$ZodType;
        break;
      case "pipe": {
        const input = definition["in"] as z.core.$ZodType;
        current = definitionOf(input).type === "transform" ? (definition["out"] as z.core.$ZodType) : input;
        break;
      }
      case "lazy":
        current = (definition["getter"] as () => z.core.$ZodType)();
        break;
      default:
        return current;
    }
  }
}

/** True when the file may hold null for this key. */
export function acceptsNull(schema: z.core.$ZodType): boolean {
  for (let current = schema; ; ) {
    const definition = definitionOf(current);
    if (definition.type === "nullable" || definition.type === "null") return true;
    const inner = definition["innerType"] as z.core.$ZodType | undefined;
    if (inner === undefined) return false;
    current = inner;
  }
}

/** Keys of an object schema with their schemas; null when the schema is not an object with known keys. */
export function objectShape(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | null {
  const definition = definitionOf(unwrap(schema));
  return definition.type === "object" ? (definition["shape"] as Record<string, z.core.$ZodType>) : null;
}

/** Schema of one member: a key of an object or record, an item of a list; null when there is none. */
export function memberSchema(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | null {
  const definition = definitionOf(unwrap(schema));
  switch (definition.type) {
    case "object": {
      const shape = definition["shape"] as Record<string, z.core.$ZodType>;
      return Object.hasOwn(shape, key) ? (shape[key as string] as z.core.$ZodType) : null;
    }
    case "record":
      return definition["valueType"] as z.core.$ZodType;
    case "array":
      return typeof key === "number" ? (definition["element"] as z.core.$ZodType) : null;
    case "union":
      for (const option of definition["options"] as readonly z.core.$ZodType[]) {
        const member = memberSchema(option, key);
        if (member !== null) return member;
      }
      return null;
    default:
      return null;
  }
}

/** Schema at a path below a schema; null when the path leads nowhere. */
export function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | null {
  return path.reduce<z.core.$ZodType | null>((current, key) => (current === null ? null : memberSchema(current, key)), schema);
}
