"""Batch inference over a folder of images (here: zeros), half precision model, results moved to the host."""
import argparse
import timm
import torch


@torch.inference_mode()
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="eva02_base_patch14_448.mim_in22k_ft_in1k")
    p.add_argument("--batch-size", type=int, default=48)
    p.add_argument("--num-images", type=int, default=220)
    p.add_argument("--topk", type=int, default=5)
    a = p.parse_args()

    model = timm.create_model(a.model, pretrained=False)
    model = model.half().cuda().eval()
    mean = torch.tensor([0.48, 0.45, 0.40], device="cuda").view(1, 3, 1, 1)
    std = torch.tensor([0.26, 0.26, 0.27], device="cuda").view(1, 3, 1, 1)

    all_idx, all_prob = [], []
    for start in range(0, a.num_images, a.batch_size):
        n = min(a.batch_size, a.num_images - start)
        batch = torch.zeros(n, 3, 448, 448, dtype=torch.uint8).cuda()
        batch = (batch.float().div(255) - mean) / std
        logits = model(batch.half())
        prob, idx = logits.float().softmax(dim=1).topk(a.topk, dim=1)
        all_idx.append(idx.cpu())
        all_prob.append(prob.cpu())
    print(torch.cat(all_idx).shape, torch.cat(all_prob).shape)


main()
