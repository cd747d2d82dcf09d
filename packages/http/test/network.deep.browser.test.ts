/** Whatever answers a page in place of the handler or after it: what the calls of its storage are told is true. */
import { register, type Subject } from "@sessions/conformance"
import { answerNames, createNetwork, registerSchedules } from "@sessions/conformance/network"
import { connectHttpStorage } from "@sessions/http/client"
import { inject, test } from "vitest"

const url = inject("httpStorage")
/** Those that a client waits for until it gives up are tried on Node: a busy Firefox takes longer for an answer than any limit that is short enough. */
const answered = answerNames.filter((name) => !name.startsWith("no answer") && name !== "the request later")

const inPage: Subject<string> = {
  name: "http in a page",
  makeLocation: () => crypto.randomUUID(),
  open: (token) => connectHttpStorage({ url, headers: { authorization: token } }),
  network: {
    names: answered,
    async open(token, meet) {
      let isReady = false
      const { fetch, arrive } = createNetwork(
        (address, init) => globalThis.fetch(address, init),
        (request) => (isReady ? meet(request) : undefined),
      )
      const storage = await connectHttpStorage({
        url,
        headers: { authorization: token },
        fetch,
      })
      isReady = true
      return { storage, arrive }
    },
  },
}

register(test, inPage, { only: ["network"], sizes: { race: 4 } })
registerSchedules(test, inPage, { runs: 100, parallel: 10 })
