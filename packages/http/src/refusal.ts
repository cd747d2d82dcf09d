/** Errors of the protocol itself, such as a wrong method or a body that is too large. */

/** A request that is refused with this status. The message goes to the client. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = "Refusal"
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** 400: what the client sent is wrong. */
export function invalid(message: string): Refusal {
  return new Refusal(400, "invalid", message)
}
