/** What a history costs, and what went wrong in it. */
export interface Tally {
  sends: number
  messages: number
  refusedPossible: number
  refusedImpossible: number
  /** Of the possible ones: by a model that has answered nothing yet, after another one has. */
  refusedNew: number
  /** Of one possible request. */
  mostRefusals: number
  /** Possible requests that were never accepted. */
  stuck: number
  /** Impossible requests that were given up, and the summaries that were paid for them. */
  ended: number
  paidImpossible: number
  paid: number
  compactions: number
  /** Accepted requests whose question, or whose unread results, were cut. */
  cutQuestions: number
  cutResults: number
}

export function createTally(): Tally {
  return {
    sends: 0,
    messages: 0,
    refusedPossible: 0,
    refusedImpossible: 0,
    refusedNew: 0,
    mostRefusals: 0,
    stuck: 0,
    ended: 0,
    paidImpossible: 0,
    paid: 0,
    compactions: 0,
    cutQuestions: 0,
    cutResults: 0,
  }
}

export function addTally(to: Tally, from: Tally): void {
  for (const name of Object.keys(to) as (keyof Tally)[])
    to[name] = name === "mostRefusals" ? Math.max(to[name], from[name]) : to[name] + from[name]
}

/** How exactly a request was predicted, and in which situation. */
export interface Prediction {
  readonly error: number
  /**
   * `same`: the last accepted request with messages behind it, by which it grew by a fifth at most; `new`: by more than that; `changed`: it does
   * not begin with that request.
   */
  readonly since: "same" | "new" | "changed"
}
