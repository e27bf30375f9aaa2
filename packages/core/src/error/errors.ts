import type { ErrorCode } from "./codes.js";

const brand: unique symbol = Symbol.for("sinks.error") as never;

/** Names of the error classes, the words of the contract table (FW-ERR-01). */
export type ErrorKind =
  | "SinksError"
  | "ConfigurationError"
  | "SinkError"
  | "TemporarySinkError"
  | "DestinationUnavailableError"
  | "CredentialsError"
  | "UnknownOutcomeError"
  | "NotAttemptedError"
  | "RetryExhaustedError"
  | "PermanentSinkError"
  | "SerializationError"
  | "ValidationError"
  | "PolicyViolationError"
  | "SizePolicyViolationError"
  | "DeadLetterError"
  | "AckError"
  | "SinkContractError";

/** What an error may carry besides its text: facts only, never a secret, a payload or a statement's text. */
export interface ErrorOptions {
  readonly code?: ErrorCode;
  /** The destination's own code: SQLSTATE, errno, reply prefix. */
  readonly destinationCode?: string;
  /** The original error; kept, never serialised. */
  readonly cause?: unknown;
}

/** Root of every error of the project; recognised by brand, so that two installed copies agree (FW-ERR-01). */
export class SinksError extends Error {
  readonly code: ErrorCode;
  readonly destinationCode: string | null;
  /** @internal Class names from the root down. */
  declare readonly [brand]: readonly ErrorKind[];

  constructor(message: string, options: ErrorOptions = {}) {
    super(message);
    if (options.cause !== undefined) {
      Object.defineProperty(this, "cause", { value: options.cause, enumerable: false, configurable: true, writable: true });
    }
    const { kinds, defaultCode } = new.target as typeof SinksError;
    this.name = kinds[kinds.length - 1] as string;
    this.code = options.code ?? defaultCode;
    this.destinationCode = options.destinationCode ?? null;
    Object.defineProperty(this, brand, { value: kinds, enumerable: false });
  }

  /** @internal */
  static readonly kinds: readonly ErrorKind[] = ["SinksError"];
  /** @internal */
  static readonly defaultCode: ErrorCode = "unexpected";
}

function lineage(parent: typeof SinksError, kind: ErrorKind): readonly ErrorKind[] {
  return Object.freeze([...parent.kinds, kind]);
}

/** An invalid start state: wrong configuration or something that configuration promises and the server lacks. */
export class ConfigurationError extends SinksError {
  static override readonly kinds = lineage(SinksError, "ConfigurationError");
  static override readonly defaultCode: ErrorCode = "configuration_invalid";
}

/** Root of what a sink may answer for a message. */
export class SinkError extends SinksError {
  static override readonly kinds = lineage(SinksError, "SinkError");
}

/** The write failed and may succeed later; retried by policy within the budget. */
export class TemporarySinkError extends SinkError {
  static override readonly kinds = lineage(SinkError, "TemporarySinkError");
  static override readonly defaultCode: ErrorCode = "temporary";
}

/** The destination takes nothing at present: the pipeline pauses, no budget is used (FW-RUN-19). */
export class DestinationUnavailableError extends TemporarySinkError {
  static override readonly kinds = lineage(TemporarySinkError, "DestinationUnavailableError");
  static override readonly defaultCode: ErrorCode = "destination_unavailable";
}

/** A login was refused or a right is missing: pause, resolve secrets again, probe; never dead-letter. */
export class CredentialsError extends TemporarySinkError {
  static override readonly kinds = lineage(TemporarySinkError, "CredentialsError");
  static override readonly defaultCode: ErrorCode = "credentials_refused";
}

/** The write may have been applied; repeated in process only when the batch is safe to repeat (WO-RT-02). */
export class UnknownOutcomeError extends TemporarySinkError {
  static override readonly kinds = lineage(TemporarySinkError, "UnknownOutcomeError");
  static override readonly defaultCode: ErrorCode = "unknown_outcome";
}

/** The message was never sent; repeated without using budget. */
export class NotAttemptedError extends TemporarySinkError {
  static override readonly kinds = lineage(TemporarySinkError, "NotAttemptedError");
  static override readonly defaultCode: ErrorCode = "not_attempted";
}

/** The budget is spent; `cause` is the last failure. Goes to the dead letters or is held (FW-RUN-20). */
export class RetryExhaustedError extends SinkError {
  static override readonly kinds = lineage(SinkError, "RetryExhaustedError");
  static override readonly defaultCode: ErrorCode = "retry_exhausted";
}

/** This message can never succeed: it alone is dead-lettered. */
export class PermanentSinkError extends SinkError {
  static override readonly kinds = lineage(SinkError, "PermanentSinkError");
  static override readonly defaultCode: ErrorCode = "permanent";
}

/** The message cannot be represented in the form the destination needs. */
export class SerializationError extends PermanentSinkError {
  static override readonly kinds = lineage(PermanentSinkError, "SerializationError");
  static override readonly defaultCode: ErrorCode = "serialization_failed";
}

/** A value of the message breaks a rule. */
export class ValidationError extends PermanentSinkError {
  static override readonly kinds = lineage(PermanentSinkError, "ValidationError");
  static override readonly defaultCode: ErrorCode = "validation_failed";
}

/** A policy of the pipeline rejects the message. */
export class PolicyViolationError extends ValidationError {
  static override readonly kinds = lineage(ValidationError, "PolicyViolationError");
  static override readonly defaultCode: ErrorCode = "policy_violation";
}

/** A size limit of the pipeline rejects the message. */
export class SizePolicyViolationError extends ValidationError {
  static override readonly kinds = lineage(ValidationError, "SizePolicyViolationError");
  static override readonly defaultCode: ErrorCode = "policy_violation";
}

/** A dead letter could not be published; the original stays held. */
export class DeadLetterError extends SinksError {
  static override readonly kinds = lineage(SinksError, "DeadLetterError");
  static override readonly defaultCode: ErrorCode = "dead_letter_failed";
}

/** A settlement could not be confirmed (FW-RUN-27). */
export class AckError extends SinksError {
  static override readonly kinds = lineage(SinksError, "AckError");
  static override readonly defaultCode: ErrorCode = "ack_unconfirmed";
}

/** The sink broke its contract: wrong number of outcomes, or an outcome of another kind. */
export class SinkContractError extends SinksError {
  static override readonly kinds = lineage(SinksError, "SinkContractError");
  static override readonly defaultCode: ErrorCode = "sink_contract";
}

/** True for an error of this project, also one made by another installed copy of it. */
export function isSinksError(value: unknown): value is SinksError {
  return typeof value === "object" && value !== null && Array.isArray((value as Record<symbol, unknown>)[brand]);
}

declare const matched: unique symbol;

/** An error known to be of a class; the mark exists for the compiler only, so that "is not" tells it nothing. */
export type ErrorOfKind = SinksError & { readonly [matched]: true };

/** True when the error is of the named class or of one below it, by brand. */
export function isErrorKind(value: unknown, kind: ErrorKind): value is ErrorOfKind {
  return isSinksError(value) && value[brand].includes(kind);
}

/** True for what a sink may answer for a message. */
export function isSinkError(value: unknown): value is SinkError {
  return isErrorKind(value, "SinkError");
}
