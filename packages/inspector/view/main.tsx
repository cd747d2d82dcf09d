/** Starts the page, of a file or of a server. */
import { render } from "preact"
import { App } from "./app.tsx"
import { embeddedSource } from "./embedded.ts"
import { ServedApp, takeToken } from "./served-app.tsx"

const root = document.getElementById("inspector")
if (root !== null) {
  root.replaceChildren()
  const mode = (root.dataset["mode"] ?? "").split(" ")
  if (mode.includes("served")) {
    takeToken()
    const rights = { write: mode.includes("write"), compact: mode.includes("compact") }
    render(<ServedApp rights={rights} />, root)
  } else render(<App source={embeddedSource(document)} />, root)
}
