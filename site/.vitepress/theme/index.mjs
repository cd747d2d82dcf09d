// The default theme with the contrast that axe asks for.
import theme from "vitepress/theme"
import "./contrast.css"

export default theme
