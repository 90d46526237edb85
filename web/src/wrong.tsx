/** What is wrong, where it went wrong. */

export const Wrong = ({ text }: { text: string }) => (text ? <pre class="wrong" role="alert">{text}</pre> : null);
