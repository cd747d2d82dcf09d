/** Remote calls from a page to any kind of worker. Each call transfers a message port for its answer. */

export type Functions = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

interface Call {
  readonly name: string
  readonly args: unknown[]
}

type Answer = { readonly value: unknown } | { readonly error: string }

export interface Callable {
  postMessage(message: unknown, transfer: Transferable[]): void
}

export function call(worker: Callable, name: string, ...args: unknown[]): Promise<unknown> {
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve, reject) => {
    port1.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      port1.close()
      if ("error" in data) reject(new Error(data.error))
      else resolve(data.value)
    })
    port1.start()
    worker.postMessage({ name, args } satisfies Call, [port2])
  })
}

/** Answers calls in a dedicated, shared or service worker. */
export function answerCalls(functions: Functions): void {
  const listen = (target: EventTarget): void =>
    target.addEventListener("message", (event) => void answer(functions, event as ExtendableMessage))
  listen(globalThis)
  globalThis.addEventListener("connect", (event) => {
    for (const port of (event as MessageEvent).ports) {
      listen(port)
      port.start()
    }
  })
}

/** `waitUntil` keeps a service worker alive until the promise settles. */
interface ExtendableMessage extends MessageEvent<Call> {
  waitUntil?(work: Promise<unknown>): void
}

async function answer(functions: Functions, event: ExtendableMessage): Promise<void> {
  const { name, args } = event.data
  const work = functions[name]?.(...(args as never[])) ?? Promise.reject(new Error(`There is no ${name}.`))
  const settled = work.then(
    (value): Answer => ({ value }),
    (error: unknown): Answer => ({ error: String(error) }),
  )
  event.waitUntil?.(settled)
  event.ports[0]?.postMessage(await settled)
}
