import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// A machine that tests may have other work to do.
configure({ asyncUtilTimeout: 10_000 });

// What jsdom lacks of a browser.
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false;
  this.dispatchEvent(new Event("close"));
};
HTMLCanvasElement.prototype.getContext = () => null;
Blob.prototype.text ??= function (this: Blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsText(this);
  });
};
window.scrollTo = () => {};

afterEach(() => {
  cleanup();
  window.history.replaceState(null, "", "/");
});
