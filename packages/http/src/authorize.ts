/** Who may do what. Every handler requires an `authorize` of the host; nothing is open by default. */
import { REFUSED } from "./provenance.ts"
import { Refusal } from "./refusal.ts"

/** What a request wants to do. */
export interface Access {
  /** The action of the route, such as `"append"`. */
  readonly action: string
  /** The id of the session, which has been checked to be one. */
  readonly session?: string
}

/**
 * Returns the principal of a request, or the `Response` to send instead, such as a 401. Returning `undefined` or `null` is a 403, so a
 * function that forgets to return opens nothing.
 */
export type Authorize<P> = (
  request: Request,
  access: Access,
) => P | Response | undefined | null | Promise<P | Response | undefined | null>

/** The principal, or the answer that refuses the request. */
export async function principalOf<P>(
  authorize: Authorize<P>,
  request: Request,
  access: Access,
): Promise<{ readonly principal: P } | { readonly refused: Response }> {
  const result = await authorize(request, access)
  if (isResponse(result)) return { refused: asRefusal(result) }
  if (result === undefined || result === null)
    throw new Refusal(403, "forbidden", "This is not allowed.", { [REFUSED]: "host" })
  return { principal: result }
}

/** Not `instanceof`: a host may have its own class, as of undici, and what refuses must not be taken for a principal. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]"
}

/** The answer of a function of the host, as one by which nothing was done: a client cannot know by its status. */
export function asRefusal({ status, statusText, headers, body }: Response): Response {
  const marked = new Headers(headers)
  marked.set(REFUSED, "host")
  return new Response(body, { status, statusText, headers: marked })
}
