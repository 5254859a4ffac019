import { render as mount } from "preact";
import { App } from "./App";
import { openSource } from "./source";
import style from "./style.css?inline";

/** TensorBoard calls this once, within the tab's frame. */
export function render(): void {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  document.documentElement.lang = "en";
  document.title = "RL-Scope";
  const root = document.createElement("div");
  root.id = "rlscope";
  document.body.append(root);
  mount(<App source={openSource()} />, root);
}

// The file that `report --html` writes holds its data, and nobody to call us.
if (document.getElementById("rlscope-data")) render();
