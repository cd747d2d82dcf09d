/**
 * What the API of a provider takes, as data. Each API has its rules in a `rules.ts` beside the code that keeps them, each rule with its source and
 * the date on which it was read there. A request that breaks one is refused, and so is every later one of the session.
 */

/** Which ids or names of calls are taken. */
export interface Form {
  /** Finds each character that is refused. Has the flag `g`. */
  readonly refused: RegExp
  /** Stands in place of a refused character. */
  readonly filler: string
  readonly min: number
  /** In UTF-16 units. */
  readonly max: number
  /** What the first character has to be. Default: any that is taken. */
  readonly first?: RegExp
  /** The form in words, for diagnostics: "letters, digits, `_` and `-`, 64 at most". */
  readonly says: string
}

export interface IdForm extends Form {
  /** An id is in a request once. Otherwise a later message may use it again. */
  readonly once: boolean
}

/** Where a request may begin and end, and which neighbours are one message. */
export interface Order {
  /** Of the first message that is not the system's. */
  readonly begins: "user" | "any"
  /** Of the last message. A result of a tool is the user's. */
  readonly ends: "user" | "any"
  /** Neighbours of these roles, in the API's words, are one message. */
  readonly joined: readonly string[]
  /** An answer stands between the results of tools and what the user says next. Default false. */
  readonly answersResults?: boolean
}

/** Bytes of a request that its images leave to the rest of it. */
export const BYTES_FOR_TEXTS = 4_000_000

/** Which images are taken, in base64. What a request may have in all comes from `REQUEST_LIMITS`. */
export interface Images {
  readonly types: readonly string[]
  /** Characters of base64. */
  readonly maxLength?: number
  /** Pixels of width and of height. */
  readonly maxSide?: number
  /** Characters of base64 of all images of a request: most of what a request may have in bytes. */
  readonly maxTotal?: number
  /** Images of a request. */
  readonly maxCount?: number
  /** A smaller `maxSide` for requests of more than `count` images. */
  readonly many?: { readonly count: number; readonly maxSide: number }
}

export interface Rules {
  /** The receiver's name, for diagnostics. */
  readonly receiver: string
  readonly callId: IdForm
  readonly callName: Form
  readonly order: Order
  readonly images: Images
}
