import { createHash } from "node:crypto";

/** What a pipeline must tell the server so that a text can be bound, in this order. */
export interface Preparation {
  readonly name: string;
  /** Name whose plan must be dropped first to make room. */
  readonly close: string | null;
  readonly parse: boolean;
}

type Effect =
  | { readonly kind: "parse" | "close"; readonly text: string; readonly name: string }
  | { readonly kind: "drop"; readonly name: string }
  | { readonly kind: "unnamed" };

/**
 * The prepared statements of one connection (WO-PG-33), least recently used first. What was asked for counts as done, so that a
 * pipeline can build on it; `confirm` follows the server's answers, and `settle` takes back what it never came to.
 */
export class StatementCache {
  readonly #limit: number;
  readonly #names = new Map<string, string>();
  #unconfirmed: Effect[] = [];
  #stale: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Answers how a text is bound, and counts it as used now. */
  prepare(text: string): Preparation {
    const known = this.#names.get(text);
    if (known !== undefined) {
      this.#names.delete(text);
      this.#names.set(text, known);
      return { name: known, close: null, parse: false };
    }
    const close = this.#names.size < this.#limit ? null : this.#evict();
    const name = statementName(text);
    this.#names.set(text, name);
    this.#unconfirmed.push({ kind: "parse", text, name });
    return { name, close, parse: true };
  }

  /** A text is parsed without a name: the server answers, and nothing is kept. */
  passUnnamed(): void {
    this.#unconfirmed.push({ kind: "unnamed" });
  }

  #evict(): string | null {
    for (const [text, name] of this.#names) {
      this.#names.delete(text);
      this.#unconfirmed.push({ kind: "close", text, name });
      return name;
    }
    return null;
  }

  /** The server has done the next thing it was asked for. */
  confirm(): void {
    this.#unconfirmed.shift();
  }

  /** The pipeline is over: what the server skipped after an error has not happened. */
  settle(): void {
    for (const effect of this.#unconfirmed.splice(0).reverse()) {
      if (effect.kind === "parse") this.#names.delete(effect.text);
      else if (effect.kind === "close") this.#names.set(effect.text, effect.name);
      else if (effect.kind === "drop") this.#stale.push(effect.name);
    }
  }

  /** Forgets every plan; the next pipeline makes the server drop those that it has. */
  forget(): void {
    this.#stale.push(...this.#names.values());
    this.#names.clear();
  }

  /** Names to close at the head of this pipeline. */
  takeStale(): readonly string[] {
    const names = this.#stale.splice(0);
    for (const name of names) this.#unconfirmed.push({ kind: "drop", name });
    return names;
  }
}

function statementName(text: string): string {
  return `sinks_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}
