/** Starts the page, of a file or of a server. */
import { render } from "preact"
import { App } from "./app.tsx"
import { embeddedSource } from "./embedded.ts"
import { ServedApp, takeToken } from "./served-app.tsx"

const root = document.getElementById("inspector")
if (root !== null) {
  root.replaceChildren()
  if (root.dataset["mode"] === "served") {
    takeToken()
    render(<ServedApp />, root)
  } else render(<App source={embeddedSource(document)} />, root)
}
