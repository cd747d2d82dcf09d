/**
 * From a listener of Node to a handler of this package and back without the streams of `Request` and `Response`, where the bytes of a body are
 * there already, or an answer is a text. For a short request they take as long as all that the handler does.
 */

/** A text as an answer. */
export class TextAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, text: string, headers: Readonly<Record<string, string>>) {
    this.status = status
    this.text = text
    this.headers = headers
  }

  get ok(): boolean {
    return this.status < 300
  }
}

export type Answer = Response | TextAnswer

export function toResponse(answer: Answer): Response {
  return answer instanceof TextAnswer ? new Response(answer.text, answer) : answer
}

type Serve = (request: Request) => Promise<Answer>

const serving = new WeakMap<object, Serve>()
const bodies = new WeakMap<Request, Uint8Array>()

/** What a listener may call in place of the handler. */
export function setServe(handler: object, serve: Serve): void {
  serving.set(handler, serve)
}

export function serveOf(handler: Serve): Serve {
  return serving.get(handler) ?? handler
}

/** The bytes of the body of the request, which its stream has as well. */
export function setBody(request: Request, bytes: Uint8Array): void {
  bodies.set(request, bytes)
}

export function knownBody(request: Request): Uint8Array | undefined {
  return bodies.get(request)
}
