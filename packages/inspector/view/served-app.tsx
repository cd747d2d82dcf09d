/** The page of a server: the token, then the sessions. */
import type { VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import type { Rights } from "../src/html.ts"
import { App } from "./app.tsx"
import { servedSource } from "./served.ts"

const KEY = "sessions-token"

/** The address that the server printed has the token in its fragment, which browsers do not send. It leaves the address at once. */
export function takeToken(): void {
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (token === undefined) return
  sessionStorage.setItem(KEY, token)
  history.replaceState(null, "", "#")
}

export function ServedApp({ rights }: { readonly rights: Rights }): VNode {
  const [token, setToken] = useState(() => sessionStorage.getItem(KEY))
  const source = useMemo(
    () =>
      token === null
        ? undefined
        : servedSource(token, rights, () => {
            sessionStorage.removeItem(KEY)
            setToken(null)
          }),
    [token],
  )
  if (source !== undefined) return <App source={source} />
  return (
    <TokenForm
      onToken={(given) => {
        sessionStorage.setItem(KEY, given)
        setToken(given)
      }}
    />
  )
}

function TokenForm({ onToken }: { readonly onToken: (token: string) => void }): VNode {
  const [given, setGiven] = useState("")
  return (
    <main>
      <h1>Sessions</h1>
      <p>
        This server needs its token. Open the address that <code>sessions serve</code> has printed, or enter the token.
      </p>
      <form
        class="token"
        onSubmit={(event) => {
          event.preventDefault()
          if (given.trim() !== "") onToken(given.trim())
        }}
      >
        <label>
          Token{" "}
          <input
            type="password"
            autocomplete="off"
            value={given}
            onInput={({ currentTarget }) => setGiven(currentTarget.value)}
          />
        </label>{" "}
        <button type="submit">Open</button>
      </form>
    </main>
  )
}
