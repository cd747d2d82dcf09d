/** What the parent, the processes that are killed and those that look afterwards say to each other: JSON, one line each. */

/** One change. Texts are in it whole, so that the parent needs to know nothing of how they were made. */
export type Op =
  | { readonly kind: "append" | "replace"; readonly session: string; readonly lines: readonly string[] }
  | { readonly kind: "delete" | "sync"; readonly session: string }
  | { readonly kind: "put"; readonly key: string; readonly text: string }
  | { readonly kind: "drop"; readonly key: string }
  | { readonly kind: "blob"; readonly text: string }

export type OpKind = Op["kind"]

/** Where a process ends by its own hand: at a file operation that changes something, counted while changes of one kind run. */
export interface KillStep {
  readonly kind: OpKind | "any"
  readonly step: number
  /** `half`: in the middle of a write, else as `before`. */
  readonly phase: "before" | "after" | "half"
}

export interface Plan {
  readonly root: string
  readonly round: number
  readonly seed: number
  readonly durability: "os" | "disk"
  readonly maxPartBytes: number
  readonly sessions: readonly string[]
  readonly ops: number
  /** Missing: the parent kills at a moment of its own choice. */
  readonly kill?: KillStep
  /** Of the file operations that change something, how many fail with an error, or write less than they should. */
  readonly errors: number
  /** The session whose first append has a torn end to repair. */
  readonly repair?: string
}

/** `start` before a change is asked for; then `done`, or the code it failed with. `end`: nothing more comes. */
export type Report =
  | { readonly ready: true }
  | { readonly start: Op }
  | { readonly done: true }
  | { readonly failed: string; readonly message: string }
  | { readonly end: true }

export interface LookRequest {
  readonly root: string
  readonly sessions: readonly string[]
  readonly maxPartBytes: number
  /** Appended to each session that is there, after it was read. */
  readonly line: string
}

export interface Found {
  /** The lines of each session before that. */
  readonly sessions: Readonly<Record<string, readonly string[]>>
  readonly docs: Readonly<Record<string, string>>
  readonly blobs: readonly string[]
  /** What one look says otherwise than another. */
  readonly contradictions: readonly string[]
}

export type Answer = { readonly found: Found } | { readonly error: string }

export const DOC_KEYS: readonly string[] = ["pointers", "labels"]

export function sessionDoc(session: string): string {
  return `sessions/${session}/state`
}
