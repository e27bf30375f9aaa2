import type { TablePayload } from "../payload/payload.js";
import type { TargetTable } from "../payload/target-table.js";
import type { Shape } from "./shape.js";
import type { ShapeNames } from "./shape-names.js";

/** What was asked for, and the shape that it has. */
interface Recent {
  readonly op: TablePayload["op"];
  readonly table: TargetTable;
  readonly names: ShapeNames;
  readonly conflict: readonly string[] | undefined;
  readonly updateColumns: readonly string[] | undefined;
  readonly newestBy: string | undefined;
  readonly shape: Shape;
}

/** Shapes that are compared name by name before any key is made: a pipeline writes few of them again and again. */
const limit = 8;

/** Remembers the shapes found last. */
export interface RecentShapes {
  find(payload: TablePayload, table: TargetTable, names: ShapeNames): Shape | null;
  /** The shape with a text, whatever the order of the names it was asked for by. */
  withText(text: string): Shape | undefined;
  /** Puts a shape in the place of the oldest and gives it back. */
  add(payload: TablePayload, table: TargetTable, names: ShapeNames, shape: Shape): Shape;
}

/** Makes an empty memory. */
export function createRecentShapes(): RecentShapes {
  const kept: Recent[] = [];
  let next = 0;
  return {
    find: (payload, table, names) => {
      for (const recent of kept) {
        if (recent.table === table && recent.op === payload.op && isSame(recent, payload, names)) return recent.shape;
      }
      return null;
    },
    withText: (text) => kept.find(({ shape }) => shape.text === text)?.shape,
    add: (payload, table, names, shape) => {
      // Lists of the payload may change after this, so they are copied.
      const { conflict, updateColumns, newestBy } = conflictFields(payload);
      kept[next] = { op: payload.op, table, names, conflict: copy(conflict), updateColumns: copy(updateColumns), newestBy, shape };
      next = (next + 1) % limit;
      return shape;
    },
  };
}

function isSame(recent: Recent, payload: TablePayload, { data, equal, absent }: ShapeNames): boolean {
  if (!sameList(recent.names.data, data)) return false;
  if (payload.op === "update" || payload.op === "delete")
    return sameList(recent.names.equal, equal) && sameList(recent.names.absent, absent);
  if (payload.op !== "upsert") return true;
  const { conflict, updateColumns, newestBy } = payload;
  return newestBy === recent.newestBy && sameList(recent.conflict, conflict) && sameList(recent.updateColumns, updateColumns);
}

interface ConflictFields {
  readonly conflict?: readonly string[];
  readonly updateColumns?: readonly string[];
  readonly newestBy?: string;
}

function conflictFields(payload: TablePayload): ConflictFields {
  return payload.op === "upsert" ? payload : {};
}

function copy(names: readonly string[] | undefined): readonly string[] | undefined {
  return names === undefined ? undefined : [...names];
}

function sameList(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}
