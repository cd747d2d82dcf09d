/** How a client tells the answers of a handler from those of any other server: a proxy, a gateway, a sign-in page. */

/** The header of an answer by which a function of the host has refused the request: nothing was done. */
export const REFUSED = "sessions-refused"

/** Whether the host refuses who asks, or what they may do. No repeat succeeds before somebody changes the credentials or the rights. */
export function isDenied({ status, headers }: Response): boolean {
  return headers.has(REFUSED) && (status === 401 || status === 403)
}

export interface SentError {
  readonly code: string
  readonly message: string
}

/** The error in the body, if the handler wrote it. */
export async function errorIn(answer: Response): Promise<SentError | undefined> {
  const body: unknown = await answer.json().catch(() => undefined)
  const { code, message } = (body as { readonly error?: Partial<SentError> } | undefined | null)?.error ?? {}
  return typeof code === "string" && typeof message === "string" ? { code, message } : undefined
}

/** Names who answered, as far as the answer tells. */
export function senderOf({ headers }: Response): string {
  const [name = ""] = (headers.get("server") ?? "").split(/[/ ]/)
  return name === "" ? "A server on the way" : `A server on the way (${name})`
}

/** What an answer is instead of the handler's. */
export function kindOf({ status, headers }: Response): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";")
  return `${status} and ${type.trim() === "" ? "nothing of the handler" : type.trim()}`
}
