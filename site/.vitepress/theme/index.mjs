// The default theme with the contrast that axe asks for.
import theme from "vitepress/theme"
// oxlint-disable-next-line import/no-unassigned-import: a style sheet exports nothing.
import "./contrast.css"

export default theme
